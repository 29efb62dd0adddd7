/** Policies and groups that a mount adds to users and groups of a directory. */
import { Type } from 'typebox';

export const userMappingShape = Type.Object({
  /** In addition to those that the directory says. */
  groups: Type.Array(Type.String()),
  policies: Type.Array(Type.String()),
});

export const groupMappingShape = Type.Object({ policies: Type.Array(Type.String()) });

const MAX_LENGTH = 256;

/** Directories have names with spaces and letters of all languages. */
export const isDirectoryName = (name: string): boolean =>
  name.length > 0 && name.length <= MAX_LENGTH && !/[\p{Cc}\p{Zl}\p{Zp}/]|^\s|\s$/u.test(name);
