/** Keys of an authority as the API lists them. */
import { useSecretList } from '../../api/queries.ts';

export interface KeyInfo {
  /** "" when it has none. */
  readonly key_name: string;
  readonly key_type: string;
  readonly is_default: boolean;
}

export interface AuthorityKey extends KeyInfo {
  readonly id: string;
}

/** The name of a key for people: the name that it was given, or the beginning of its id. */
export const nameOfKey = ({ id, key_name: name }: Pick<AuthorityKey, 'id' | 'key_name'>): string =>
  name || id.slice(0, 8);

/** The keys of an authority: the default first, then those with a name, by it. */
export const useKeys = (mount: string) => {
  const query = useSecretList<KeyInfo>(`${mount}/keys`);
  const { keys = [], infos = {} } = query.data ?? {};
  const all = keys
    .flatMap((id) => (infos[id] === undefined ? [] : [{ id, ...infos[id] }]))
    .toSorted(
      (a, b) =>
        Number(b.is_default) - Number(a.is_default) ||
        Number(a.key_name === '') - Number(b.key_name === '') ||
        nameOfKey(a).localeCompare(nameOfKey(b)),
    );
  return { query, all };
};
