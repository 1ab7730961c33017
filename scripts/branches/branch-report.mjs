/** What presents, wires up or parses a command line is not an area's core. */
const NOT_CORE = /^src\/cli\/|^src\/[\w-]+\/(?:profile-[ab]|wire)\/|\.module\.ts$|^src\/[\w.-]+\.ts$/;

/** A row for each area: arms of its branches, and how many were taken, in its core and in all of it. */
export function tableOf(ledger) {
  const areas = new Map();
  for (const [file, { taken }] of ledger.files) {
    const area = file.split('/').length > 2 ? (file.split('/')[1] ?? '') : '(start)';
    const row = areas.get(area) ?? { core: [], all: [] };
    row.all.push(...taken);
    if (!NOT_CORE.test(file)) row.core.push(...taken);
    areas.set(area, row);
  }
  const rows = [...areas].sort(([one], [other]) => (one < other ? -1 : 1));
  const sum = { core: rows.flatMap(([, { core }]) => core), all: rows.flatMap(([, { all }]) => all) };
  const lines = [...rows, ['all', sum]].map(
    ([area, { core, all }]) => `| ${area} | ${share(core)} | ${share(all)} |`,
  );
  return ['| Area | Core | All of it |', '|---|---|---|', ...lines].join('\n');
}

/** `file:line kind` of every arm that nothing took. */
export function darkArms(ledger) {
  const lines = [...ledger.files].flatMap(([file, { arms, taken }]) =>
    arms.flatMap(({ line, kind }, i) => (taken[i] === 0 ? [`${file}:${line} ${kind}`] : [])),
  );
  return `${lines.join('\n')}\n`;
}

function share(taken) {
  if (taken.length === 0) return '–';
  const light = taken.filter((count) => count > 0).length;
  return `${((100 * light) / taken.length).toFixed(1)} % of ${taken.length}`;
}
