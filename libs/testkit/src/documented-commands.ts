import { readFileSync } from 'node:fs';

const REPOSITORY = new URL('../../../', import.meta.url);

const blockBelow = (page: string, heading: string, language: string): string => {
  const text = readFileSync(new URL(page, REPOSITORY), 'utf8');
  const start = Math.max(...['##', '###'].map((level) => text.indexOf(`\n${level} ${heading}\n`)));
  const below = start < 0 ? '' : text.slice(start);
  const block = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(below)?.[1];
  if (block === undefined) throw new Error(`${page} has no ${language} below "${heading}"`);
  return block;
};

/** The first shell block below a heading of a page ("docs/est.md"), to be pasted into a shell. */
export const documentedCommands = (page: string, heading: string): string =>
  blockBelow(page, heading, 'sh');

/** The first JSON document below a heading of a page, to be sent. */
export const documentedJson = (page: string, heading: string): unknown =>
  JSON.parse(blockBelow(page, heading, 'json'));
