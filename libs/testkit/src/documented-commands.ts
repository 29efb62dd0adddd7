import { readFileSync } from 'node:fs';

const REPOSITORY = new URL('../../../', import.meta.url);

/** The first shell block below a heading of a page ("docs/est.md"), to be pasted into a shell. */
export const documentedCommands = (page: string, heading: string): string => {
  const text = readFileSync(new URL(page, REPOSITORY), 'utf8');
  const start = Math.max(...['##', '###'].map((level) => text.indexOf(`\n${level} ${heading}\n`)));
  const block = /```sh\n([\s\S]*?)```/.exec(start < 0 ? '' : text.slice(start))?.[1];
  if (block === undefined) throw new Error(`${page} has no commands below "${heading}"`);
  return block;
};
