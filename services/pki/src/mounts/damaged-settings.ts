/** Settings whose records are damaged: each fails where it is used, and is repaired by writing it again. */
import { hasCode, isDamage } from '@keelson/errors';

/**
 * A value that is read later: a damaged record is an error where the value is used, and nowhere else.
 * @returns a function that gives the value, or throws the KeelsonError of the damage
 */
export const whenUsed = async <T>(value: Promise<T>): Promise<() => T> => {
  try {
    const loaded = await value;
    return () => loaded;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return () => {
      throw error;
    };
  }
};

/** The settings that a change starts from, and warnings for the answer to it. */
export interface SettingsBefore<T> {
  readonly before: T;
  readonly warnings: readonly string[];
}

/**
 * The stored settings, or the defaults where these are damaged, so that writing the settings again repairs
 * them. Settings of a newer version are not replaced.
 */
export const settingsBefore = async <T>(
  stored: Promise<T>,
  defaults: T,
): Promise<SettingsBefore<T>> => {
  try {
    return { before: await stored, warnings: [] };
  } catch (error) {
    if (!isDamage(error) || hasCode(error, 'storage.newer_record')) throw error;
    return {
      before: defaults,
      warnings: [
        'the former settings cannot be read and were replaced: fields that this request does not contain have their defaults',
      ],
    };
  }
};
