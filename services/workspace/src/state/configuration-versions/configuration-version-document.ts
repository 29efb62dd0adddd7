import {
  API_PREFIX,
  choice,
  dictionary,
  orNull,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { toStatusTimestamps } from '../../base/status-timestamps.ts';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import {
  CONFIGURATION_STATUSES,
  type ConfigurationVersion,
} from '../model/domain/configuration-version.ts';

const text = Type.String();

export const INGRESS_ATTRIBUTES = resourceSchema({
  type: 'ingress-attributes',
  description: 'The commit of a configuration version.',
  attributes: {
    identifier: Type.String({ description: '`:org/:repo`.' }),
    'clone-url': text,
    'commit-sha': text,
    'commit-message': text,
    'commit-url': text,
    'compare-url': orNull(text),
    branch: Type.String({ description: 'Empty for a Git tag.' }),
    tag: orNull(text),
    'on-default-branch': Type.Boolean(),
    'is-pull-request': Type.Boolean(),
    'pull-request-number': orNull(Type.Integer()),
    'pull-request-title': orNull(text),
    'pull-request-body': orNull(text),
    'pull-request-url': orNull(text),
    'sender-username': orNull(text),
    'sender-avatar-url': orNull(text),
    'sender-html-url': orNull(text),
  },
});

export const CONFIGURATION_VERSION = resourceSchema({
  type: 'configuration-versions',
  attributes: {
    'auto-queue-runs': Type.Boolean({
      description: 'Whether a run is queued as soon as the files are uploaded.',
    }),
    speculative: Type.Boolean({ description: 'Whether its runs only plan.' }),
    provisional: Type.Boolean(),
    status: choice(CONFIGURATION_STATUSES),
    source: Type.String({ description: 'Client that uploaded the files, such as `tfe-api`.' }),
    error: orNull(choice(['fetch_failed'])),
    'error-message': orNull(text),
    'status-timestamps': dictionary(timestamp(), {
      description: 'When it came to each status: `uploaded-at` and so on.',
    }),
    'upload-url': orNull(
      Type.String({ description: 'Signed; null except in the answer to the creation.' }),
    ),
  },
  relationships: { 'ingress-attributes': relatedOne('ingress-attributes', 'linked') },
  links: ['self', 'download'],
});

const toIngressId = ({ id }: Pick<ConfigurationVersion, 'id'>): string => id.replace('cv-', 'ia-');

/** The commit of a configuration version; undefined for an upload. */
export const toIngressResource = (
  version: ConfigurationVersion,
): ResourceOf<typeof INGRESS_ATTRIBUTES> | undefined => {
  const { ingress } = version;
  if (ingress === undefined) return undefined;
  const { pullRequest, sender, ...commit } = ingress;
  return {
    id: toIngressId(version),
    type: 'ingress-attributes',
    attributes: {
      ...toKebabKeys(commit),
      'is-pull-request': pullRequest !== null,
      'pull-request-number': pullRequest?.number ?? null,
      'pull-request-title': pullRequest?.title ?? null,
      'pull-request-body': pullRequest?.body ?? null,
      'pull-request-url': pullRequest?.url ?? null,
      'sender-username': sender?.username ?? null,
      'sender-avatar-url': sender?.avatarUrl ?? null,
      'sender-html-url': sender?.htmlUrl ?? null,
    },
  };
};

/** The commits of configuration versions; uploads have none. */
export const toIngressResources = (
  versions: readonly ConfigurationVersion[],
): readonly ResourceOf<typeof INGRESS_ATTRIBUTES>[] =>
  versions.flatMap((version) => toIngressResource(version) ?? []);

/** @param uploadUrl shown only in the response that creates the version */
export const toConfigurationVersionResource = (
  version: ConfigurationVersion,
  uploadUrl: string | null,
): ResourceOf<typeof CONFIGURATION_VERSION> => {
  return {
    id: version.id,
    type: 'configuration-versions',
    attributes: {
      'auto-queue-runs': version.autoQueueRuns,
      speculative: version.speculative,
      provisional: version.provisional,
      status: version.status,
      source: version.source,
      error: version.errorMessage === undefined ? null : 'fetch_failed',
      'error-message': version.errorMessage ?? null,
      'status-timestamps': toStatusTimestamps(version.statusTimesMs),
      'upload-url': uploadUrl,
    },
    relationships: {
      'ingress-attributes': toOne(
        'ingress-attributes',
        version.ingress === undefined ? null : toIngressId(version),
        `${API_PREFIX}/configuration-versions/${version.id}/ingress-attributes`,
      ),
    },
    links: {
      self: `${API_PREFIX}/configuration-versions/${version.id}`,
      download: `${API_PREFIX}/configuration-versions/${version.id}/download`,
    },
  };
};
