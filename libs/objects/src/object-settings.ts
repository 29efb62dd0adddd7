/** Settings of the object storage, which several services share. */
import { readFileSync } from 'node:fs';
import { ConfigError } from '@keelson/config';
import { Type } from 'typebox';
import type { ObjectStorage } from './object-storage.ts';
import { openS3Storage } from './s3-storage.ts';

export const objectStorageSettings = Type.Object(
  {
    objectStorageEndpoint: Type.Optional(
      Type.String({
        description:
          'S3-compatible storage for the bodies of states, configurations, plans and ended logs, such as https://s3.eu-central-1.amazonaws.com. Not set: they are kept in the database.',
        pattern: '^https?://[^/?#]+/?$',
      }),
    ),
    objectStorageBucket: Type.Optional(
      Type.String({
        description: 'Bucket, which must exist.',
        pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      }),
    ),
    objectStorageRegion: Type.String({
      description: 'Region of the bucket, which is part of the signature of requests.',
      pattern: '^[A-Za-z0-9-]{1,64}$',
      default: 'us-east-1',
    }),
    objectStoragePrefix: Type.String({
      description:
        'Beginning of all keys in the bucket, ending with a slash. Clusters that do not share their objects need different ones.',
      pattern: '^([A-Za-z0-9_-][A-Za-z0-9._-]{0,99}/){0,8}$',
      default: '',
    }),
    objectStoragePathStyle: Type.Boolean({
      description:
        'Whether the bucket is part of the path of addresses; otherwise it is part of the host name.',
      default: true,
    }),
    objectStorageAccessKeyId: Type.Optional(
      Type.String({ description: 'Access key of the object storage.', minLength: 1 }),
    ),
    objectStorageSecretAccessKey: Type.Optional(
      Type.String({
        description: 'Secret of the access key of the object storage.',
        minLength: 1,
        secret: true,
      }),
    ),
    objectStorageCredentialsFile: Type.Optional(
      Type.String({
        secretFile: true,
        description:
          'File with lines aws_access_key_id = … and aws_secret_access_key = …, instead of the two settings. Read when the process starts.',
      }),
    ),
    objectStorageTimeoutSeconds: Type.Integer({
      description:
        'Time for a connection to the object storage, for the head of an answer, and for each pause in a body. A request is attempted three times.',
      minimum: 1,
      maximum: 60,
      default: 5,
    }),
    objectStorageKeepDays: Type.Integer({
      description:
        'Days for which objects are kept after nothing refers to them. Snapshots contain no objects, and can be restored as a whole within this time.',
      minimum: 1,
      maximum: 3650,
      default: 14,
    }),
    objectStorageShared: Type.Boolean({
      description:
        'Whether all clusters of a replication set use this bucket and prefix. Otherwise each secondary copies the objects into its own storage.',
      default: false,
    }),
  },
  { title: 'Object storage' },
);

export interface ObjectStorageSettings {
  readonly objectStorageEndpoint?: string;
  readonly objectStorageBucket?: string;
  readonly objectStorageRegion: string;
  readonly objectStoragePrefix: string;
  readonly objectStoragePathStyle: boolean;
  readonly objectStorageAccessKeyId?: string;
  readonly objectStorageSecretAccessKey?: string;
  readonly objectStorageCredentialsFile?: string;
  readonly objectStorageTimeoutSeconds: number;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The value of the line `name = value`. */
const lineOf = (text: string, name: string): string | undefined => {
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    const [key, value] = [line.slice(0, at), line.slice(at + 1)];
    if (key.trim() === name && value.trim() !== '') return value.trim();
  }
  return undefined;
};

const readCredentialsFile = (file: string): Credentials => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new ConfigError([`KEELSON_OBJECT_STORAGE_CREDENTIALS_FILE: ${file}: ${code}.`]);
  }
  const accessKeyId = lineOf(text, 'aws_access_key_id');
  const secretAccessKey = lineOf(text, 'aws_secret_access_key');
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError([
      `KEELSON_OBJECT_STORAGE_CREDENTIALS_FILE: ${file} needs the lines aws_access_key_id = … and aws_secret_access_key = ….`,
    ]);
  return { accessKeyId, secretAccessKey };
};

const credentialsOf = (settings: ObjectStorageSettings): Credentials => {
  const {
    objectStorageAccessKeyId: accessKeyId,
    objectStorageSecretAccessKey: secretAccessKey,
    objectStorageCredentialsFile: file,
  } = settings;
  const given = [accessKeyId, secretAccessKey].filter((value) => value !== undefined).length;
  if (file !== undefined && given === 0) return readCredentialsFile(file);
  if (file === undefined && accessKeyId !== undefined && secretAccessKey !== undefined)
    return { accessKeyId, secretAccessKey };
  throw new ConfigError([
    'Set either KEELSON_OBJECT_STORAGE_CREDENTIALS_FILE, or KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID and KEELSON_OBJECT_STORAGE_SECRET_ACCESS_KEY.',
  ]);
};

/**
 * The object storage that the settings name; undefined if none is.
 * @throws ConfigError when settings are missing or contradict each other
 */
export const openConfiguredStorage = (
  settings: ObjectStorageSettings,
): ObjectStorage | undefined => {
  const { objectStorageEndpoint: endpoint, objectStorageBucket: bucket } = settings;
  if (endpoint === undefined && bucket === undefined) return undefined;
  if (endpoint === undefined || bucket === undefined)
    throw new ConfigError([
      'KEELSON_OBJECT_STORAGE_ENDPOINT and KEELSON_OBJECT_STORAGE_BUCKET go together.',
    ]);
  return openS3Storage({
    endpoint,
    bucket,
    region: settings.objectStorageRegion,
    prefix: settings.objectStoragePrefix,
    pathStyle: settings.objectStoragePathStyle,
    ...credentialsOf(settings),
    timeoutMs: settings.objectStorageTimeoutSeconds * 1000,
  });
};
