/** Variables of a workspace: what a run's configuration and environment are given. */
import { attributeViolation, type Violation } from '../../validation/domain/violation.ts';

export const VARIABLE_CATEGORIES = ['terraform', 'env'] as const;
type VariableCategory = (typeof VARIABLE_CATEGORIES)[number];

export interface Variable {
  /** `var-…`. */
  readonly id: string;
  readonly workspaceId: string;
  readonly key: string;
  readonly value: string;
  readonly description: string | null;
  readonly category: VariableCategory;
  /** The value is an expression of the configuration language. */
  readonly hcl: boolean;
  /** The value is never shown again; once true it stays so. */
  readonly sensitive: boolean;
  /** Changes with every write. */
  readonly versionId: string;
  readonly createdAtMs: number;
}

export type GivenVariable = Partial<
  Pick<Variable, 'key' | 'value' | 'description' | 'category' | 'hcl' | 'sensitive'>
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

/** What a variable may not be after a request; `others` are the workspace's other variables. */
export const checkVariable = (
  next: Variable,
  current: Variable | undefined,
  others: readonly Variable[],
): readonly Violation[] => {
  const violations: Violation[] = [];
  if (!KEY_RULES[next.category].test(next.key)) {
    violations.push(attributeViolation('key', KEY_TEXTS[next.category]));
  }
  if (next.category === 'env' && next.hcl) {
    violations.push(attributeViolation('hcl', 'hcl is for variables of the configuration only'));
  }
  if (current?.sensitive === true && !next.sensitive) {
    violations.push(
      attributeViolation('sensitive', 'a sensitive variable stays sensitive; delete it instead'),
    );
  }
  if (others.some(({ key, category }) => key === next.key && category === next.category)) {
    violations.push(attributeViolation('key', 'Key has already been taken'));
  }
  return violations;
};
