/** The texts of the console use the words of docs/glossary.md: its terms, sentence case, and verbs on buttons. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SOURCE = join(import.meta.dirname, '..', 'src', 'browser');
/** Stands for a part of a text that is known when it is shown. */
const VARIABLE = '…';

type Kind = 'button' | 'heading' | 'label' | 'text';

interface Shown {
  readonly kind: Kind;
  readonly text: string;
  readonly file: string;
}

interface Node {
  readonly type: string;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const nodesIn = (value: unknown): readonly Node[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(nodesIn);
  return isNode(value) ? [value, ...below] : below;
};

/** The texts that a part of the source can show. */
const textsOf = (node: unknown): readonly string[] => {
  if (!isNode(node)) return [];
  switch (node.type) {
    case 'Literal':
      return typeof node['value'] === 'string' ? [node['value']] : [VARIABLE];
    case 'JSXText':
      return [String(node['value']).replaceAll(/\s+/g, ' ')];
    case 'JSXExpressionContainer':
      return textsOf(node['expression']);
    case 'JSXEmptyExpression':
      return [];
    case 'JSXElement':
      // An input or an icon has no words.
      return (node['openingElement'] as Node)['selfClosing'] === true ? [] : [VARIABLE];
    case 'TemplateLiteral':
      return [
        (node['quasis'] as { value: { cooked: string } }[])
          .map(({ value }) => value.cooked)
          .join(VARIABLE),
      ];
    case 'ConditionalExpression':
      return [...textsOf(node['consequent']), ...textsOf(node['alternate'])];
    case 'LogicalExpression':
      return textsOf(node['right']);
    default:
      return [VARIABLE];
  }
};

/** The text between the tags of an element, in each of its forms. */
const contentOf = (element: Node): readonly string[] =>
  (element['children'] as Node[])
    .map(textsOf)
    .reduce<readonly string[]>(
      (before, next) =>
        next.length === 0
          ? before
          : before.flatMap((start) => next.map((text) => `${start}${text}`)),
      [''],
    );

/** Attributes that name a button, a heading or a label, by the element. */
const NAMED: readonly (readonly [element: RegExp, attribute: string, kind: Kind])[] = [
  [/Button$/, 'label', 'button'],
  [/Button$/, 'confirm', 'button'],
  [/^Edit(?:Form|Button)$/, 'save', 'button'],
  [
    /^(?:Card|LoginCard|Page|Modal|SidePanel|Commands|ActionButton|EditButton)$/,
    'title',
    'heading',
  ],
];

const kindOf = (name: string): Kind => {
  if (name === 'Button') return 'button';
  if (/^(?:(?:Page|Card|Part)Heading|legend|Summary)$/.test(name)) return 'heading';
  return /^(?:Choice)?Label$/.test(name) ? 'label' : 'text';
};

const shownIn = (file: string): readonly Shown[] => {
  const { program } = parseSync(file, readFileSync(join(SOURCE, file), 'utf8'));
  return nodesIn(program)
    .filter(({ type }) => type === 'JSXElement')
    .flatMap((element) => {
      const opening = element['openingElement'] as Node;
      const called = (opening['name'] as Node)['name'];
      const name = typeof called === 'string' ? called : '';
      const attributes = (opening['attributes'] as Node[]).flatMap((attribute) => {
        const attributeName = (attribute['name'] as Node | undefined)?.['name'];
        const named = NAMED.find(
          ([pattern, wanted]) => wanted === attributeName && pattern.test(name),
        );
        return named === undefined
          ? []
          : textsOf(attribute['value']).map((text) => ({ kind: named[2], text, file }));
      });
      const kind = kindOf(name);
      return [...attributes, ...contentOf(element).map((text) => ({ kind, text, file }))];
    })
    .map(({ text, ...shown }) => ({ ...shown, text: text.trim() }))
    .filter(({ text }) => /\p{L}{2}/u.test(text));
};

const shown = globSync('**/*.tsx', { cwd: SOURCE }).toSorted().flatMap(shownIn);

const glossary = readFileSync(join(ROOT, 'docs', 'glossary.md'), 'utf8');
const [, ofConsole = ''] = glossary.split('## Words of the console');

/** Rows of the table of words: the word, and those that mean the same and are not used. */
const words = ofConsole
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, word = '', others = '']) => ({ word, others: others.split(', ') }));

/** The list that a line of the glossary introduces. */
const listAfter = (introduction: string): readonly string[] => {
  const [, rest = ''] = ofConsole.split(introduction);
  return (rest.split('\n')[0] ?? '')
    .replace(/\.$/, '')
    .split(',')
    .map((word) => word.trim());
};

const verbs = listAfter('Buttons begin with one of these verbs:');
const otherButtons = listAfter('Buttons that are no verbs, because everybody knows them so:');
const names = listAfter('Names keep their capitals:');

const faultsOf = (kinds: readonly Kind[], isFault: (text: string) => boolean): readonly string[] =>
  shown
    .filter(({ kind, text }) => kinds.includes(kind) && isFault(text))
    .map(({ kind, text, file }) => `${file}: ${kind} "${text}"`);

const startsWithVariable = (text: string): boolean => text.startsWith(VARIABLE);

test('the glossary has words, verbs and names, and the sources have texts of each kind', () => {
  expect(words.length).toBeGreaterThan(10);
  expect(verbs.length).toBeGreaterThan(30);
  expect(names.length).toBeGreaterThan(10);
  for (const kind of ['button', 'heading', 'label', 'text'])
    expect(shown.filter((one) => one.kind === kind).length).toBeGreaterThan(50);
});

test('buttons are verbs of the glossary, or a state such as "Working…"', () => {
  const isVerb = (text: string): boolean =>
    startsWithVariable(text) ||
    /^\p{Lu}\p{L}+ing(?: \p{L}+)?…$/u.test(text) ||
    otherButtons.includes(text) ||
    verbs.some((verb) => new RegExp(`^${verb}(?: |:|$)`).test(text));
  expect(faultsOf(['button'], (text) => !isVerb(text))).toEqual([]);
});

test('buttons, headings and labels are in sentence case', () => {
  const isCapital = (word: string): boolean => /^\p{Lu}/u.test(word);
  const isFault = (text: string): boolean => {
    if (!startsWithVariable(text) && /^\p{Ll}/u.test(text) && !names.includes(text)) return true;
    // A sentence may begin after a period, a colon or a bracket, and what is quoted is no word of the console.
    const rest = names
      .toSorted((a, b) => b.length - a.length)
      .reduce((left, name) => left.replaceAll(name, ''), text)
      .replaceAll(/["“][^"”]*["”]/g, '');
    return rest
      .split(/[.?!:(]\s*/)
      .some((sentence) => sentence.trim().split(/\s+/).slice(1).some(isCapital));
  };
  expect(faultsOf(['button', 'heading', 'label'], isFault)).toEqual([]);
});

test('no text has a word for which the glossary has another', () => {
  const faults = words.flatMap(({ word, others }) =>
    others.flatMap((other) => {
      const pattern = new RegExp(String.raw`(?<![\w-])${other}(?![\w-])`, 'i');
      return faultsOf(['button', 'heading', 'label', 'text'], (text) => pattern.test(text)).map(
        (fault) => `${fault}: "${word}" in place of "${other}"`,
      );
    }),
  );
  expect(faults).toEqual([]);
});

test('the console uses every word of the glossary that is its own', () => {
  const all = shown.map(({ text }) => text.toLowerCase()).join('\n');
  const unused = words.filter(({ word }) => !all.includes(word.toLowerCase()));
  expect(unused).toEqual([]);
});
