// Usage: node skills-judge.mjs FOLDER…; prints what the reference library of Agent Skills says about each, as JSON.
import { readProperties, validate } from 'skills-ref';

const judged = process.argv.slice(2).map(async (folder) => {
  const problems = await validate(folder);
  return { problems, properties: problems.length === 0 ? await readProperties(folder) : undefined };
});
process.stdout.write(JSON.stringify(await Promise.all(judged)));
