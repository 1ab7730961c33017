import { Column, Entity, PrimaryColumn } from 'typeorm';
import { columnsOf } from './entity-columns.js';
import type { RowOf } from './sql-types.js';

@Entity('sealed_things')
class ThingEntity {
  @PrimaryColumn({ type: 'bigint' })
  id!: string;

  @Column({ name: 'user_id', type: 'text', nullable: true })
  userId!: string | null;

  @Column({ type: 'text', array: true })
  scopes!: ('read' | 'write')[];

  @Column({ name: 'made_at', type: 'timestamptz' })
  madeAt!: Date;

  @Column({ type: 'date' })
  day!: string;

  @Column({ name: 'amount', type: 'integer' })
  amountOfIt!: number;

  notStored!: string;
}

test('columns have the names and types of the entity', () => {
  const shape = columnsOf(ThingEntity, 'id', 'userId', 'scopes', 'madeAt');
  expect(shape).toEqual({
    id: { name: 'bigint' },
    user_id: { name: 'text' },
    scopes: { name: 'text[]' },
    made_at: { name: 'timestamp with time zone' },
  });
  const row: RowOf<typeof shape> = { id: '1', user_id: null, scopes: ['read'], made_at: new Date(0) };
  const scope: 'read' | 'write' | undefined = row.scopes[0];
  expect(scope).toBe('read');
});

@Entity('special_things')
class SpecialThingEntity extends ThingEntity {
  @Column({ name: 'made_by', type: 'text' })
  madeBy!: string;
}

test('an entity has the columns that it inherits', () => {
  expect(columnsOf(SpecialThingEntity, 'madeBy', 'userId')).toEqual({
    made_by: { name: 'text' },
    user_id: { name: 'text' },
  });
});

test.each([
  ['notStored', 'ThingEntity.notStored is not the column not_stored'],
  ['amountOfIt', 'ThingEntity.amountOfIt is not the column amount_of_it'],
  ['day', 'ThingEntity.day is a date: declare it yourself'],
] as const)('%s is refused', (property, message) => {
  expect(() => columnsOf(ThingEntity, property)).toThrow(message);
});
