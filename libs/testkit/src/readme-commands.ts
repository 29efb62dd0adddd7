import { readFileSync } from 'node:fs';

const README = new URL('../../../README.md', import.meta.url);

/** The first shell block below a heading of the project's README, to be pasted into a shell. */
export const readmeCommands = (heading: string): string => {
  const readme = readFileSync(README, 'utf8');
  const start = readme.indexOf(`\n## ${heading}\n`);
  const block = /```sh\n([\s\S]*?)```/.exec(start < 0 ? '' : readme.slice(start))?.[1];
  if (block === undefined) throw new Error(`the README has no commands below "${heading}"`);
  return block;
};
