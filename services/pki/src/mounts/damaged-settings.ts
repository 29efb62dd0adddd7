/** Settings that are read together and fail one by one. */
import { isDamage } from '@keelson/storage';

/**
 * A value that is wanted later: a damaged record is an error where the value is used, and nowhere else.
 * @returns a function that gives the value, or throws KeelsonError `barrier.damaged_value`
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
