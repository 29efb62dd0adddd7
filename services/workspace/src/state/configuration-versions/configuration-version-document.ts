import { API_PREFIX, type Resource, toOne, toTimestamp } from '@keelson/jsonapi';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { ConfigurationVersion } from '../model/domain/configuration-version.ts';

const toIngressId = ({ id }: Pick<ConfigurationVersion, 'id'>): string => id.replace('cv-', 'ia-');

/** The commit of a configuration version; undefined for an upload. */
export const toIngressResource = (version: ConfigurationVersion): Resource | undefined => {
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
): readonly Resource[] => versions.flatMap((version) => toIngressResource(version) ?? []);

/** @param uploadUrl shown only in the response that creates the version */
export const toConfigurationVersionResource = (
  version: ConfigurationVersion,
  uploadUrl: string | null,
): Resource => {
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
      'status-timestamps': Object.fromEntries(
        Object.entries(version.statusTimesMs).map(([status, atMs]) => [
          `${status.replaceAll('_', '-')}-at`,
          toTimestamp(atMs),
        ]),
      ),
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
