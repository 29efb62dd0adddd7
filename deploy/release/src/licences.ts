/** Licences of what a release contains: which ones it may contain, and the report of them. */

export interface Component {
  readonly name: string;
  readonly version: string;
  readonly licenses?: readonly (
    | { readonly license: { readonly id?: string; readonly name?: string } }
    | { readonly expression: string }
  )[];
}

/** Permissive licences, as the packages write them. */
const ALLOWED: readonly string[] = [
  '(Apache-2.0 AND BSD-3-Clause)',
  '(BSD-3-Clause OR GPL-2.0)',
  '(MIT OR Apache-2.0)',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT and ISC',
  'MIT-0',
  // The licence of the typeface, which is shipped with it.
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
];

/** Packages with conditions on changed copies. They are contained unchanged, in files of their own. */
const ALLOWED_UNCHANGED: Readonly<Record<string, string>> = {
  '@jmespath-community/jmespath': 'MPL-2.0',
  openpgp: 'LGPL-3.0',
};

export const licenceOf = ({ licenses = [] }: Component): string =>
  licenses
    .map((each) =>
      'expression' in each ? each.expression : (each.license.id ?? each.license.name),
    )
    .join(' and ') || 'none';

/** A sentence for each component whose licence is not allowed. */
export const licenceFaults = (components: readonly Component[]): readonly string[] =>
  components.flatMap((component) => {
    const licence = licenceOf(component);
    if (ALLOWED.includes(licence) || ALLOWED_UNCHANGED[component.name] === licence) return [];
    return [
      `${component.name} ${component.version} has the licence ${licence}, which is not allowed.`,
    ];
  });

/** A paragraph for each licence, with its components. */
export const licenceReport = (components: readonly Component[]): string => {
  const byLicence = Object.groupBy(components, licenceOf);
  return Object.keys(byLicence)
    .toSorted()
    .map((licence) => {
      const names = (byLicence[licence] ?? []).map(({ name, version }) => `  ${name} ${version}\n`);
      return `${licence}\n${names.toSorted().join('')}`;
    })
    .join('\n');
};
