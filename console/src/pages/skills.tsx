import type { ReactNode } from 'react';
import type { Skill } from '../api/types';
import { Card, Page } from '../ui/page';
import { useGet } from '../ui/queries';
import { Empty, Loaded } from '../ui/states';
import { type Column, Table } from '../ui/table';

interface Answer {
  readonly skills: readonly Skill[];
  readonly failed?: readonly { readonly folder: string; readonly error: string }[];
}

const NAME: Column<Skill> = { name: 'Skill', kind: 'wide', show: ({ name }) => <strong>{name}</strong> };
const DESCRIPTION: Column<Skill> = { name: 'Purpose', kind: 'wide', show: ({ description }) => description };
/** Profile A says which tools a skill needs, Profile B where it comes from and when it is read. */
const OF_A: readonly Column<Skill>[] = [
  { name: 'Needs tools', kind: 'wide', show: ({ tools_required }) => tools_required?.join(', ') || 'none' },
];
const OF_B: readonly Column<Skill>[] = [
  { name: 'From', show: ({ source }) => source },
  { name: 'Triggers', kind: 'wide', show: ({ triggers }) => triggers?.join(', ') || 'none' },
];

export default function Skills(): ReactNode {
  const skills = useGet<Answer>('/api/v1/skills', { refreshMs: 30_000 });
  return (
    <Page title="Skills" description="Instructions that an agent reads when a task calls for them.">
      <Loaded query={skills}>
        {({ skills: items, failed = [] }) => (
          <>
            {failed.length > 0 && (
              <Card title="Could not be read">
                <ul className="attention">
                  {failed.map(({ folder, error }) => (
                    <li key={folder}>
                      <span className="attention-text">
                        <strong className="mono break">{folder}</strong>{' '}
                        <span className="break">{error}</span>
                      </span>
                    </li>
                  ))}
                </ul>
              </Card>
            )}
            <Card flush>
              {items.length === 0 ? (
                <Empty title="No skills">
                  Put folders with a SKILL.md into the folder that skills.dir names.
                </Empty>
              ) : (
                <Table
                  label="Skills"
                  columns={[
                    NAME,
                    DESCRIPTION,
                    ...(items.some(({ source }) => source !== undefined) ? OF_B : OF_A),
                  ]}
                  rows={items}
                  keyOf={({ name, source }) => `${source ?? ''} ${name}`}
                />
              )}
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
