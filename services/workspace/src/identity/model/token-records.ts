import { hash, randomBytes } from 'node:crypto';
import { collection, type Reads } from '@keelson/storage';
import { type ApiToken, apiTokenShape } from './domain/token.ts';

/** Keyed by the token's hash. */
export const tokenRecords = collection('tokens', {
  scope: 'shared',
  version: 3,
  shape: apiTokenShape,
  owner: [
    { kind: 'user', by: 'ownerId' },
    { kind: 'team', by: 'ownerId' },
    { kind: 'organization', by: 'ownerId' },
    { kind: 'agent-pool', by: 'ownerId' },
    { kind: 'run', by: 'ownerId' },
    { kind: 'membership', by: 'ownerId' },
  ],
  index: ['id', 'ownerId'],
  // An older release would look for the owner of a token for an audit trail, and answer each such request with 500.
  upgrades: {
    2: { up: (token) => token, down: (token) => token },
    3: {
      up: (token) => token,
      down: (token) => {
        const { signInGeneration: _, ...older } = token;
        return older;
      },
    },
  },
});

/** A token by its id; undefined after its deletion. The caller checks whether it has expired. */
export const findToken = async (reads: Reads, tokenId: string): Promise<ApiToken | undefined> =>
  (await tokenRecords.by.id.records(reads, tokenId))[0];

/** Whether a token is that of a user who has signed in, and none that lies somewhere. */
export const isSession = async (reads: Reads, tokenId: string): Promise<boolean> =>
  (await findToken(reads, tokenId))?.ownerKind === 'session';

/** A token has 384 random bits, so that a plain digest of it cannot be found by brute force. */
export const hashToken = (text: string): string => hash('sha256', text);

const BASE62 = /[^A-Za-z0-9]/g;
const randomText = (length: number): string =>
  randomBytes(length * 2)
    .toString('base64')
    .replaceAll(BASE62, '')
    .slice(0, length);

/** Clients recognise the ".atlasv1." part in the middle. */
export const newTokenText = (): string => `${randomText(14)}.atlasv1.${randomText(67)}`;
