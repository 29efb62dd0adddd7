import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptsName } from './name-acceptance.ts';
import { fillTemplates, templateParametersOf } from './name-templates.ts';
import type { Role } from './role.ts';

const NAME = 'identity.entity.name';
const TEAM = 'identity.entity.metadata.team';
const GROUP = 'identity.groups.names.web team.id';

const rules = {
  allowedDomains: [] as readonly string[],
  allowedDomainsTemplate: true,
  allowedUriSans: [] as readonly string[],
  allowedUriSansTemplate: true,
};
const domainsOf = (entry: string, values: Record<string, string>): readonly string[] =>
  fillTemplates({ ...rules, allowedDomains: [entry] }, values).allowedDomains;
const urisOf = (entry: string, values: Record<string, string>): readonly string[] =>
  fillTemplates({ ...rules, allowedUriSans: [entry] }, values).allowedUriSans;

describe('a domain with templates', () => {
  test.for<readonly [string, Readonly<Record<string, string>>, string | undefined]>([
    ['plain.example.com', {}, 'plain.example.com'],
    [`{{${NAME}}}.example.com`, { [NAME]: 'ann' }, 'ann.example.com'],
    [`{{ ${NAME} }}-{{${TEAM}}}.x`, { [NAME]: 'ann', [TEAM]: 'web' }, 'ann-web.x'],
    [`*.{{${TEAM}}}.example.com`, { [TEAM]: 'web' }, '*.web.example.com'],
    [`{{${GROUP}}}.example.com`, { [GROUP]: '7' }, '7.example.com'],
    [`{{${NAME}}}@example.com`, { [NAME]: 'ann.smith+ci' }, 'ann.smith+ci@example.com'],
    [`{{${NAME}}}`, { [NAME]: 'a.example.com' }, 'a.example.com'],
    [`{{${NAME}}}`, { [NAME]: 'ann@example.com' }, 'ann@example.com'],
    [`{{${TEAM}}}.x`, { [NAME]: 'ann' }, undefined],
    [`{{${NAME}}}-{{${TEAM}}}.x`, { [NAME]: 'ann' }, undefined],
    ['{{constructor}}.x', {}, undefined],
    ...['', '*', 'a*', 'a.b', '.', 'a.', '.a', '-a', 'a-', 'a b', 'a\n', '\na', 'a\u0000', 'a@b']
      .concat('{{', `{{${TEAM}}}`, 'a/b', 'a:b', '$&', 'ä', '⒈', 'a。b', 'a．b', 'аnn')
      .map(
        (value) =>
          [`{{${NAME}}}.example.com`, { [NAME]: value, [TEAM]: 'web' }, undefined] as const,
      ),
    ...[
      '',
      '*',
      '*.example.com',
      'a..b',
      '.a',
      'a.',
      'a@b@c',
      'a@',
      '@a',
      'a b',
      'a\n',
      'a/b',
      '{{x}}',
    ].map((value) => [`{{${NAME}}}`, { [NAME]: value }, undefined] as const),
    ...['', '*', 'a@b', 'a b', 'a\n', 'a"', '<a>', 'a,b'].map(
      (value) => [`{{${NAME}}}@example.com`, { [NAME]: value }, undefined] as const,
    ),
  ])('%s for %o is %s', ([entry, values, filled]) => {
    expect(domainsOf(entry, values)).toEqual(filled === undefined ? [] : [filled]);
  });

  test('has one label more than its text, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (value) => {
        for (const filled of domainsOf(`{{${NAME}}}.example.com`, { [NAME]: value }))
          expect(filled).toBe(`${value}.example.com`.match(/^[\w-]+\.example\.com$/)?.[0]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a URI with templates', () => {
  test.for<readonly [string, Readonly<Record<string, string>>, string | undefined]>([
    [`spiffe://x/{{${NAME}}}`, { [NAME]: 'ann.smith@x' }, 'spiffe://x/ann.smith@x'],
    [`spiffe://x/{{${TEAM}}}/*`, { [TEAM]: 'web' }, 'spiffe://x/web/*'],
    [`spiffe://{{${TEAM}}}.x/a`, { [TEAM]: 'web' }, 'spiffe://web.x/a'],
    [`urn:x:{{${NAME}}}`, { [NAME]: 'ann' }, 'urn:x:ann'],
    ...['', '.', '..', '*', 'a/b', '/', 'https://evil', 'a:b', 'a?b', 'a#b', 'a%2fb', 'a b', 'a\n']
      .concat('\\', '{{', 'ä', 'a\r\nb')
      .map((value) => [`spiffe://x/{{${NAME}}}`, { [NAME]: value }, undefined] as const),
    ...['', 'evil.example/', 'a.b', 'ann@evil', 'a:1', 'a/'].map(
      (value) => [`spiffe://{{${NAME}}}.x/a`, { [NAME]: value }, undefined] as const,
    ),
  ])('%s for %o is %s', ([entry, values, filled]) => {
    expect(urisOf(entry, values)).toEqual(filled === undefined ? [] : [filled]);
  });

  test('keeps its scheme, its authority and the number of its segments, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (value) => {
        for (const filled of urisOf(`spiffe://x.example/ns/{{${NAME}}}/sa`, { [NAME]: value })) {
          const { protocol, host, pathname, search, hash } = new URL(filled);
          expect([protocol, host, search, hash]).toEqual(['spiffe:', 'x.example', '', '']);
          expect(pathname.split('/')).toEqual(['', 'ns', value, 'sa']);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('the parameters of a role are those of the lists that may have templates', () => {
  const role = {
    ...rules,
    allowedDomains: [`{{${NAME}}}.x`, `{{ ${NAME} }}.y`, 'z'],
    allowedUriSans: [`spiffe://x/{{${TEAM}}}`],
  };
  expect(templateParametersOf(role)).toEqual([NAME, TEAM]);
  expect(templateParametersOf({ ...role, allowedDomainsTemplate: false })).toEqual([TEAM]);
  const plain = { ...role, allowedDomainsTemplate: false, allowedUriSansTemplate: false };
  expect(templateParametersOf(plain)).toEqual([]);
});

test('a template that nobody has filled in allows nothing, not even its own text', () => {
  const role = {
    ...rules,
    allowedDomains: [`{{${NAME}}}.x`, 'plain.x'],
    allowBareDomains: true,
    allowSubdomains: true,
    allowGlobDomains: true,
    enforceHostnames: false,
    allowWildcardCertificates: true,
  } as unknown as Role;
  expect(acceptsName(role, 'plain.x')).toBe(true);
  for (const name of [`{{${NAME}}}.x`, `a.{{${NAME}}}.x`, 'ann.x'])
    expect(acceptsName(role, name)).toBe(false);
});
