/** Variables of a workspace: input values of the configuration and environment variables of a run. */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';

export const VARIABLE_CATEGORIES = ['terraform', 'env'] as const;
const variableCategoryShape = Type.Enum(VARIABLE_CATEGORIES);
type VariableCategory = Shaped<typeof variableCategoryShape>;

/** A variable of a workspace or of a variable set. */
export const variableContentShape = Type.Object({
  /** `var-…`. */
  id: Type.String(),
  key: Type.String(),
  value: Type.String(),
  description: nullable(Type.String()),
  category: variableCategoryShape,
  /** Whether the value is an expression of the configuration language. */
  hcl: Type.Boolean(),
  /** Whether the value is write-only; once true, it stays true. */
  sensitive: Type.Boolean(),
  /** Changes with every write. */
  versionId: Type.String(),
  createdAtMs: Type.Number(),
});
export type VariableContent = Shaped<typeof variableContentShape>;

export const variableShape = Type.Object({
  ...variableContentShape.properties,
  workspaceId: Type.String(),
});
export type Variable = Shaped<typeof variableShape>;

export type VariableInput = Partial<
  Pick<VariableContent, 'key' | 'value' | 'description' | 'category' | 'hcl' | 'sensitive'>
>;

const KEY_RULES: Readonly<Record<VariableCategory, RegExp>> = {
  terraform: /^\w[\w-]*$/,
  env: /^\w+$/,
};

const KEY_TEXTS: Readonly<Record<VariableCategory, string>> = {
  terraform:
    'Key can only include letters, numbers, underscores and hyphens, and cannot begin with a hyphen',
  env: 'Key can only include letters, numbers and underscores',
};

/**
 * Checks the rules for a variable as it is after a request; `others` are the other variables of its workspace
 * or set.
 */
export const checkVariable = (
  next: VariableContent,
  current: VariableContent | undefined,
  others: readonly VariableContent[],
): readonly Violation[] => {
  const violations: Violation[] = [];
  if (!KEY_RULES[next.category].test(next.key)) {
    violations.push(attributeViolation('key', KEY_TEXTS[next.category]));
  }
  if (next.category === 'env' && next.hcl) {
    violations.push(
      attributeViolation('hcl', 'hcl is allowed only for variables of category terraform'),
    );
  }
  if (current?.sensitive === true && !next.sensitive) {
    violations.push(
      attributeViolation(
        'sensitive',
        'a sensitive variable cannot be made visible; delete it and create another',
      ),
    );
  }
  if (others.some(({ key, category }) => key === next.key && category === next.category)) {
    violations.push(attributeViolation('key', 'Key has already been taken'));
  }
  return violations;
};
