/** Pages of lists (reference §0.5), which every LIST has. */
import { type Answer, type FinalAnswer, isFinal } from './answers.ts';
import { isJsonObject } from './coercions.ts';
import { field } from './fields.ts';

/** The parameters that every LIST has in addition to its own. */
export const PAGE_FIELDS = {
  after: field.string({ default: '', description: 'Only entries after this key.' }),
  limit: field.integer({ default: 0, description: 'Maximum number of entries; 0 or less: all.' }),
};

export interface PageChoice {
  readonly after: string;
  readonly limit: number;
}

/**
 * The chosen part of a list that is in memory as a whole. It follows the place of the key, or, where the key is not
 * there (any more), has the greater ones of a list in ascending order.
 */
export const pageOf = (
  keys: readonly string[],
  { after, limit }: PageChoice,
): readonly string[] => {
  const at = after === '' ? -1 : keys.indexOf(after);
  const following =
    after !== '' && at === -1 ? keys.filter((key) => key > after) : keys.slice(at + 1);
  return limit > 0 ? following.slice(0, limit) : following;
};

/** The chosen part of an answer: of its `keys`, and of the `key_info` about them. */
export const pageOfAnswer = (
  answer: Answer | FinalAnswer,
  choice: PageChoice,
): Answer | FinalAnswer => {
  if (isFinal(answer)) return answer;
  const { keys, key_info: info, ...others } = answer.data ?? {};
  if (!Array.isArray(keys)) return answer;
  const page = pageOf(keys as readonly string[], choice);
  const shown = isJsonObject(info) && {
    key_info: Object.fromEntries(page.map((key) => [key, info[key]])),
  };
  return { ...answer, data: { keys: page, ...shown, ...others } };
};
