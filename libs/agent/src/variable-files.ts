/** Variables of a workspace and of a run in the file formats of the tool. */
import type { PhaseVariable } from './control-plane.ts';

/** A string of the configuration language: no template in it is evaluated. */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll('${', () => '$${')
    .replaceAll('%{', '%%{')}"`;

/** Names that a configuration can declare. The tool refuses a whole file that has any other name. */
const isIdentifier = (key: string): boolean => /^[A-Za-z_][\w-]*$/.test(key);

/**
 * Contents of variable files, in this order because later files override earlier ones: a name may appear only
 * once in a file, and a run may override a value of the workspace. A variable that no configuration can
 * declare, because its key begins with a digit, is left out.
 */
export const toVariableFiles = (variables: readonly PhaseVariable[]): readonly string[] => {
  const files: Map<string, string>[] = [];
  for (const { key, value, category, hcl } of variables) {
    if (category !== 'terraform' || !isIdentifier(key)) continue;
    const line = `${key} = ${hcl ? value : quoted(value)}\n`;
    let file = files.find((known) => !known.has(key));
    if (file === undefined) files.push((file = new Map<string, string>()));
    file.set(key, line);
  }
  return files.map((file) => [...file.values()].join(''));
};

export const toEnvironment = (variables: readonly PhaseVariable[]): Record<string, string> =>
  Object.fromEntries(
    variables.filter(({ category }) => category === 'env').map(({ key, value }) => [key, value]),
  );
