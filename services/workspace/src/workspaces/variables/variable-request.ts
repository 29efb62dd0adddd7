/** Variables in request documents, of workspaces and of variable sets. */
import { nullable } from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { VARIABLE_CATEGORIES, type VariableInput } from './domain/variable.ts';

const MAX_VALUE_LENGTH = 256 * 1024;

const key = Type.String({ minLength: 1, maxLength: 256 });
const category = Type.Union(VARIABLE_CATEGORIES.map((name) => Type.Literal(name)));
const attributes = {
  value: Type.Optional(nullable(Type.String({ maxLength: MAX_VALUE_LENGTH }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 512 }))),
  hcl: Type.Optional(Type.Boolean()),
  sensitive: Type.Optional(Type.Boolean()),
};

/** Attributes of a request that creates a variable. */
export const CREATE_VARIABLE = Type.Object({ ...attributes, key, category });

/** Attributes of a request that changes a variable. */
export const UPDATE_VARIABLE = Type.Object({
  ...attributes,
  key: Type.Optional(key),
  category: Type.Optional(category),
});

/** null is treated as absent. */
export const toGivenVariable = ({
  value,
  ...given
}: Static<typeof UPDATE_VARIABLE>): VariableInput => ({
  ...given,
  ...(value == null ? {} : { value }),
});
