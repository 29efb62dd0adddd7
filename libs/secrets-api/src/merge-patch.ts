/**
 * JSON Merge Patch, RFC 7396 §2. The package json-merge-patch is not used: it changes its target, and drops
 * what follows a key named "constructor".
 */
import { isJsonObject, type JsonObject } from './coercions.ts';

/** Returns `target` with the patch applied; neither argument is changed. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isJsonObject(patch)) return patch;
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  // fromEntries defines own properties: a key named __proto__ stays data.
  return Object.fromEntries(merged);
};

/** `mergePatch` for objects on both sides. */
export const mergePatchObject = (target: JsonObject, patch: JsonObject): JsonObject =>
  mergePatch(target, patch) as JsonObject;
