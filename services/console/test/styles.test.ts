/** The styles of the console: each component has its own in a CSS module, and only variables and a reset are global. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { scopedName } from '../scoped-name.ts';

const SOURCES = join(import.meta.dirname, '..', 'src', 'browser');

/** Global files, and the selectors that each may have. */
const GLOBAL: Readonly<Record<string, RegExp>> = {
  'look/tokens.css': /^(?::root|&\[data-theme="(?:light|dark)"\])$/,
  'look/reset.css': /^(?:html|body|\*|:focus-visible|::selection)$/,
};

/** The layers of components; those of the global files are their own. */
const LAYERS = ['base', 'controls', 'parts', 'pages'];

/** Elements that have a component, which is the only one to draw them. */
const DRAWN =
  /<(button|label|select|textarea|fieldset|details|summary|progress|a|code|pre|kbd|small|h[1-3])\b/g;

const sourceOf = (file: string): string => readFileSync(join(SOURCES, file), 'utf8');

interface Rule {
  readonly selectors: readonly string[];
  /** The preludes of the blocks around it, outermost first. */
  readonly within: readonly string[];
}

/** The rules of a file, without those of its animations. */
const rulesOf = (css: string): readonly Rule[] => {
  const within: string[] = [];
  const rules: Rule[] = [];
  for (const [, text = '', end] of css
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .matchAll(/([^{};]*)([{};])/g)) {
    const prelude = text.trim();
    if (end === '}') within.pop();
    if (end !== '{') continue;
    if (!prelude.startsWith('@') && !within.some((one) => one.startsWith('@keyframes')))
      rules.push({
        selectors: prelude.split(/,(?![^(]*\))/).map((one) => one.trim()),
        within: [...within],
      });
    within.push(prelude);
  }
  return rules;
};

/** The selector without the values of attributes, which look like elements and classes. */
const withoutAttributes = (selector: string): string => selector.replaceAll(/\[[^\]]*\]/g, '');

const classesIn = (css: string): ReadonlySet<string> =>
  new Set(
    rulesOf(css).flatMap(({ selectors }) =>
      selectors.flatMap((one) =>
        [...withoutAttributes(one).matchAll(/\.([\w-]+)/g)].map(([, name = '']) => name),
      ),
    ),
  );

const styles = globSync('**/*.css', { cwd: SOURCES });
const modules = styles.filter((file) => file.endsWith('.module.css'));
const scripts = globSync('**/*.{ts,tsx}', { cwd: SOURCES });

/** "file.module.css class" of every class that a script names. */
const named = scripts.flatMap((file) => {
  const text = sourceOf(file);
  const body = text.replaceAll(/^import [^;]*;$/gm, '');
  return [...text.matchAll(/^import (\w+) from '([^']+\.module\.css)';/gm)].flatMap(
    ([, variable = '', path = '']) => {
      const module = resolve(SOURCES, file, '..', path).slice(SOURCES.length + 1);
      return [...body.matchAll(new RegExp(`\\b${variable}(\\.\\w+|\\[[^\\]]*\\])`, 'g'))].map(
        ([, access = '']) => `${module} ${/^\['([\w-]+)'\]$/.exec(access)?.[1] ?? access}`,
      );
    },
  );
});

test('the walk reads rules within layers, media and animations', () => {
  const css = `@layer base {
    /* button {} */
    .one:is(.two, b) > li, [title="p .no"] * { color: red; &:hover { color: blue } }
    @media (width < 48rem) { .three { margin: 0 } }
    @keyframes turn { to { opacity: 0 } }
  }`;
  expect(rulesOf(css).map(({ selectors }) => selectors)).toEqual([
    ['.one:is(.two, b) > li', '[title="p .no"] *'],
    ['&:hover'],
    ['.three'],
  ]);
  expect([...classesIn(css)]).toEqual(['one', 'two', 'three']);
});

test('only variables and the reset are global', () => {
  expect(styles.filter((file) => !modules.includes(file)).toSorted()).toEqual(
    Object.keys(GLOBAL).toSorted(),
  );
  const foreign = Object.entries(GLOBAL).flatMap(([file, allowed]) =>
    rulesOf(sourceOf(file)).flatMap(({ selectors }) =>
      selectors.filter((one) => !allowed.test(one)).map((one) => `${file}: ${one}`),
    ),
  );
  expect(foreign).toEqual([]);
});

test('no selector of a component names an element, an id or something global', () => {
  const faults = modules.flatMap((file) =>
    rulesOf(sourceOf(file)).flatMap(({ selectors }) =>
      selectors
        .filter((one) =>
          /(?<![.:\w-])[a-z]|#|:global/i.test(
            withoutAttributes(one).replaceAll(/:[\w-]+/g, (pseudo) =>
              pseudo === ':global' ? pseudo : '',
            ),
          ),
        )
        .map((one) => `${file}: ${one}`),
    ),
  );
  expect(faults).toEqual([]);
});

test('every rule of a component is in a layer', () => {
  const faults = modules.flatMap((file) =>
    rulesOf(sourceOf(file)).flatMap(({ selectors, within: [layer = ''] }) =>
      LAYERS.some((one) => layer === `@layer ${one}`) ? [] : [`${file}: ${selectors.join(', ')}`],
    ),
  );
  expect(faults).toEqual([]);
});

test('every class of a module is used, and every class that is used is there', () => {
  const defined = modules.flatMap((file) =>
    [...classesIn(sourceOf(file))].map((name) => `${file} ${name}`),
  );
  expect([...new Set(named)].toSorted()).toEqual(defined.toSorted());
});

test('no two classes have the same name in the document', () => {
  const names = modules.flatMap((file) =>
    [...classesIn(sourceOf(file))].map((name) => scopedName(name, file)),
  );
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(modules.map((file) => basename(file)).toSorted()).toEqual(
    [...new Set(modules.map((file) => basename(file)))].toSorted(),
  );
});

test('no class is a text, and every element that has a component is drawn by it', () => {
  const texts = scripts.flatMap((file) =>
    [...sourceOf(file).matchAll(/className(?:="|=\{[`'])/g)].map(() => file),
  );
  expect(texts).toEqual([]);
  const bare = scripts
    .filter((file) => file.endsWith('.tsx') && !file.startsWith('components/'))
    .flatMap((file) => {
      const text = sourceOf(file);
      const inputs = [...text.matchAll(/<input\b[^]*?\/>/g)]
        .filter(([input]) => !/type="(?:checkbox|radio)"/.test(input))
        .map(() => 'input');
      return [...[...text.matchAll(DRAWN)].map(([, tag]) => tag), ...inputs].map(
        (tag) => `${file}: ${tag}`,
      );
    });
  expect(bare).toEqual([]);
});

test('no block of a long log looks at all blocks before it', () => {
  const selectors = styles.flatMap((file) =>
    rulesOf(sourceOf(file)).flatMap((rule) => rule.selectors),
  );
  const looking = selectors.filter((one) => /:has\(.*~/.test(one));
  expect(looking.length).toBeGreaterThan(0);
  expect(looking.filter((one) => !one.endsWith('~ :not([data-block])'))).toEqual([]);
});
