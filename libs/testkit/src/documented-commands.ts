import { readFileSync } from 'node:fs';

const REPOSITORY = new URL('../../../', import.meta.url);

const BLOCKS = { sh: /```sh\n([\s\S]*?)```/, json: /```json\n([\s\S]*?)```/ } as const;

const blockBelow = (page: string, heading: string, language: keyof typeof BLOCKS): string => {
  const text = readFileSync(new URL(page, REPOSITORY), 'utf8');
  const start = Math.max(...['##', '###'].map((level) => text.indexOf(`\n${level} ${heading}\n`)));
  const block = BLOCKS[language].exec(start < 0 ? '' : text.slice(start))?.[1];
  if (block === undefined) throw new Error(`${page} has no ${language} below "${heading}"`);
  return block;
};

/** The first shell block below a heading of a page ("docs/est.md"), to be pasted into a shell. */
export const documentedCommands = (page: string, heading: string): string =>
  blockBelow(page, heading, 'sh');

/** The first JSON document below a heading of a page, to be sent. */
export const documentedJson = (page: string, heading: string): unknown =>
  JSON.parse(blockBelow(page, heading, 'json'));
