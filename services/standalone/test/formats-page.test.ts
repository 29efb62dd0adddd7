import { expect, test } from 'vitest';
import { STREAM_FORMAT } from '../../../libs/replication/src/wire/stream-message.ts';
import { KEYRING_FORMAT } from '../../../libs/storage/src/barrier/keyring.ts';
import { POSTGRES_FORMAT } from '../../../libs/storage/src/postgres/postgres-schema.ts';
import { SQLITE_FORMAT } from '../../../libs/storage/src/sqlite/sqlite-schema.ts';
import { LOG_FORMAT } from '../../../libs/storage/src/wal/wal-codec.ts';
import { PENDING_LOGIN_FORMAT } from '../../sys/src/logins/pending-login.ts';
import { BUNDLE_FORMAT } from '../../sys/src/replication/domain/activation-bundle.ts';
import { SNAPSHOT_FORMAT } from '../../sys/src/snapshots/snapshot-operations.ts';
import { BATCH_TOKEN_FORMAT } from '../../sys/src/tokens/batch-token-operations.ts';

interface Format {
  readonly of: string;
  /** The only one that is written and read. */
  readonly format: number;
  readonly place: string;
  readonly refusal: string;
}

const FORMATS: readonly Format[] = [
  {
    of: 'store in SQLite',
    format: SQLITE_FORMAT,
    place: 'column `format` of the table `head`',
    refusal: '`storage.unknown_format` at the start; the file is not changed',
  },
  {
    of: 'store in PostgreSQL',
    format: POSTGRES_FORMAT,
    place: 'column `format` of the table `head`',
    refusal: '`storage.unknown_format` at the start; the database is not changed',
  },
  {
    of: 'entry of the log, page of a copy',
    format: LOG_FORMAT,
    place: 'first byte',
    refusal: '`storage.corrupt` with the number; `sys.snapshot_damaged` for a page of a snapshot',
  },
  {
    of: 'keyring',
    format: KEYRING_FORMAT,
    place: 'first byte below the encryption',
    refusal: '`storage.corrupt` with the number; the seal stays closed',
  },
  {
    of: 'snapshot',
    format: SNAPSHOT_FORMAT,
    place: '`format` in `meta.json`, the first entry',
    refusal: '`sys.snapshot_unknown_format` before anything is staged',
  },
  {
    of: 'message of a replication stream',
    format: STREAM_FORMAT,
    place: 'header `format`',
    refusal: '`replication.malformed` with the number, before it is decrypted',
  },
  {
    of: 'secondary activation token',
    format: BUNDLE_FORMAT,
    place: '`krs<n>.` in front of an encrypted token, `format` in its content',
    refusal: '`request.invalid` with the number; nothing is cleared',
  },
  {
    of: 'batch token',
    format: BATCH_TOKEN_FORMAT,
    place: '`format` in its content, below the encryption',
    refusal: '`sys.batch_token_unknown_format` with the number',
  },
  {
    of: 'login that waits for a second factor',
    format: PENDING_LOGIN_FORMAT,
    place: 'first byte of its content, below the encryption',
    refusal: '`sys.mfa_failed`: the client signs in again',
  },
];

/** Formats that have no number of ours: nothing is read from them, or others define them. */
const UNNUMBERED: readonly (readonly [of: string, reader: string])[] = [
  [
    'service token, accessor, wrapping token, token of a user, team, organization or agent pool',
    'random text that is compared with a digest; nothing is read from it. Its record has a version',
  ],
  [
    'wrapping token in the form of a JWT',
    'RFC 7519 with the header `{"alg":"ES512","typ":"JWT"}`; with another header it is no valid wrapping token',
  ],
  ['backup', 'a snapshot'],
  ['state that is downloaded', 'the bytes that the client stored, in the format of Terraform'],
  [
    'certificate, CRL or private key that is exported',
    'DER or PEM of RFC 5280, RFC 5915, RFC 8017 or RFC 5958; PKCS #7 (RFC 2315) or PKCS #12 (RFC 7292)',
  ],
];

test('docs/formats.md lists the format of what Keelson stores and sends', async () => {
  const page = [
    '# Formats',
    '',
    'What Keelson stores and sends to other clusters has a format with a number. A reader accepts only the format of its own version; another is refused by its number before anything changes. Records have a version for each kind instead, and older ones are upgraded when they are read: [records.md](records.md).',
    '',
    'This page is written from the code: `npx vitest run --project unit services/standalone -u`.',
    '',
    '| what | format | where the number is | another format is refused with |',
    '| --- | --- | --- | --- |',
    ...FORMATS.map(
      ({ of, format, place, refusal }) => `| ${[of, format, place, refusal].join(' | ')} |`,
    ),
    '',
    'These have no number, because nothing is read from them or their formats are those of others:',
    '',
    '| what | format |',
    '| --- | --- |',
    ...UNNUMBERED.map((row) => `| ${row.join(' | ')} |`),
    '',
    'Whatever a primary sends also names its version of Keelson, and a secondary refuses a newer one than its own (`replication.newer_primary`; [replication.md](replication.md)).',
    '',
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../../../docs/formats.md');
});
