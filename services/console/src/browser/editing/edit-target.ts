/** Where an edited thing is read, and how changes of it are stored. */
import { ApiProblem } from '../api/api-problem.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import { callWorkspaces, type OneDocument, type Resource } from '../api/workspaces-api.ts';
import { type Command, rootCurl, secretsCurl, workspacesCurl } from '../components/commands.tsx';

export interface EditTarget<Document> {
  /** Reads the thing as it is stored now. */
  readonly read: () => Promise<Document>;
  /** Stores the members of the body; all others stay. */
  readonly send: (body: object) => Promise<unknown>;
  /** The same request, to copy. */
  readonly command: (body: object) => Command;
}

/**
 * A resource of the workspace API. Bodies have the resource's `attributes` or `relationships`.
 * @param path below `/api/v2/`
 */
export const workspaceTarget = <Attributes>(
  path: string,
  type: string,
): EditTarget<Resource<Attributes>> => {
  const bodyOf = (members: object): object => ({ data: { type, ...members } });
  return {
    read: async () => (await callWorkspaces<OneDocument<Attributes>>('GET', path)).data,
    send: (members) => callWorkspaces('PATCH', path, { body: bodyOf(members) }),
    command: (members) => workspacesCurl('PATCH', path, bodyOf(members)),
  };
};

/**
 * A document below `/v1/`, whose POST stores the members that it gives, or replaces the whole.
 * @param options.method PATCH where a POST resets what it does not give
 * @param options.readPath where it is read, if that is not where it is written
 * @param options.absent the document of a thing that does not exist yet; without it that is an error
 * @param options.isInRoot whether only the root namespace has it
 */
export const secretTarget = <Data>(
  path: string,
  options: {
    readonly method?: 'POST' | 'PATCH';
    readonly readPath?: string;
    readonly absent?: Data;
    readonly isInRoot?: boolean;
  } = {},
): EditTarget<Data> => {
  const { method = 'POST', readPath = path, absent, isInRoot = false } = options;
  const at = isInRoot ? { namespace: '' } : {};
  return {
    read: async () => {
      const data = (await readData<Data>(readPath, at)) ?? absent;
      if (data === undefined) throw new ApiProblem(404, 'It does not exist any more.');
      return data;
    },
    send: (body) => callSecrets(method, path, { body, ...at }),
    command: (body) => (isInRoot ? rootCurl : secretsCurl)(method, path, body),
  };
};
