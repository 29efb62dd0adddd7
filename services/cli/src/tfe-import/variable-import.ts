/** Imports the variables of workspaces and variable sets. No server reveals the values of sensitive ones. */
import type { Document } from '../client/api-client.ts';
import { attempt } from '../importing/attempts.ts';
import { copyAttributes, create, type ImportContext } from './import-context.ts';

const ATTRIBUTES = ['key', 'value', 'description', 'category', 'hcl', 'sensitive'];

const nameOf = ({ attributes: { key, category } }: Document): string => `${key} (${category})`;

/** @param targetPath collection of the target; undefined if a dry run would create its owner */
export const importVariables = async (
  context: ImportContext,
  subject: string,
  variables: readonly Document[],
  targetPath: string | undefined,
): Promise<void> => {
  const { target, report } = context;
  const found = targetPath === undefined ? [] : await target.list(targetPath);
  const there = new Set(found.map(nameOf));
  for (const variable of variables) {
    const name = nameOf(variable);
    if (there.has(name)) report.countAlreadyThere('variables');
    else if (variable.attributes.sensitive === true)
      report.leaveOut(subject, `variable ${name} is sensitive: its value cannot be read, set it`);
    else
      await attempt(context, subject, () =>
        create(context, {
          kind: 'variables',
          subject,
          path: targetPath ?? '',
          type: 'vars',
          attributes: copyAttributes(variable, ATTRIBUTES),
        }),
      );
  }
};
