/**
 * Tags are key-value bindings; a flat tag is a binding without a value. Own bindings override the
 * project's of the same key.
 */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import type { Violation } from '../../../base/validation/domain/violation.ts';

export const tagBindingShape = Type.Object({
  /** `tb-…`. */
  id: Type.String(),
  key: Type.String(),
  /** Null for a flat tag. */
  value: nullable(Type.String()),
  createdAtMs: Type.Number(),
});
export type TagBinding = Shaped<typeof tagBindingShape>;

export interface BindingInput {
  readonly key: string;
  readonly value?: string | null | undefined;
}

/** Maximum number of bindings of one workspace or project, including flat tags. */
const MAX_BINDINGS = 10;

const KEY = /^[A-Za-z0-9_.=+\-@:]{1,128}$/;
const VALUE = /^[A-Za-z0-9_.=+\-@:]{0,256}$/;
const FLAT_NAME = /^[A-Za-z0-9:_-]{1,255}$/;

/** Prefixes reserved for the provider of the tool. */
export const isBindingKey = (key: string): boolean => KEY.test(key) && !/^hcp?:/.test(key);

/** @param pointer JSON pointer to the tag with this name */
export const checkFlatTag = (name: string, pointer: string): readonly Violation[] =>
  FLAT_NAME.test(name) ? [] : [{ pointer: `${pointer}/attributes/name`, text: 'Name is invalid' }];

export const checkBindings = (
  given: readonly BindingInput[],
  pointer: string,
): readonly Violation[] =>
  given.flatMap(({ key, value }, index) => {
    const at = `${pointer}/${index}/attributes`;
    const violations: Violation[] = [];
    if (!isBindingKey(key)) {
      violations.push({ pointer: `${at}/key`, text: 'Key is invalid' });
    }
    if (value != null && !VALUE.test(value)) {
      violations.push({ pointer: `${at}/value`, text: 'Value is invalid' });
    }
    return violations;
  });

export const checkBindingCount = (
  bindings: readonly TagBinding[],
  pointer: string,
): readonly Violation[] =>
  bindings.length > MAX_BINDINGS
    ? [{ pointer, text: `cannot exceed ${MAX_BINDINGS} bindings per resource` }]
    : [];

export interface BindingSource {
  readonly nowMs: number;
  readonly newId: () => string;
}

/** Adds bindings or updates their values; a key that is already bound keeps its id and position. */
export const upsertBindings = (
  current: readonly TagBinding[],
  given: readonly BindingInput[],
  { nowMs, newId }: BindingSource,
): readonly TagBinding[] => {
  const byKey = new Map(current.map((binding) => [binding.key, binding]));
  for (const { key, value = null } of given) {
    const known = byKey.get(key);
    byKey.set(
      key,
      known === undefined ? { id: newId(), key, value, createdAtMs: nowMs } : { ...known, value },
    );
  }
  return [...byKey.values()];
};

/** Replaces all bindings by the given ones; keys that remain keep their ids. */
export const replaceBindings = (
  current: readonly TagBinding[],
  given: readonly BindingInput[],
  source: BindingSource,
): readonly TagBinding[] => {
  const kept = new Set(given.map(({ key }) => key));
  return upsertBindings(
    current.filter(({ key }) => kept.has(key)),
    given,
    source,
  );
};

export interface EffectiveBinding {
  readonly binding: TagBinding;
  readonly isInherited: boolean;
}

export const decideEffectiveBindings = (
  own: readonly TagBinding[],
  inherited: readonly TagBinding[],
): readonly EffectiveBinding[] => {
  const ownKeys = new Set(own.map(({ key }) => key));
  return [
    ...own.map((binding) => ({ binding, isInherited: false })),
    ...inherited
      .filter(({ key }) => !ownKeys.has(key))
      .map((binding) => ({ binding, isInherited: true })),
  ];
};
