import { API_PREFIX, type Resource, toTimestamp } from '@keelson/jsonapi';
import type { ConfigurationVersion } from './domain/configuration-version.ts';

/** @param uploadUrl shown once, when the version is announced */
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
      error: null,
      'error-message': null,
      'status-timestamps': Object.fromEntries(
        Object.entries(version.statusTimesMs).map(([status, atMs]) => [
          `${status.replaceAll('_', '-')}-at`,
          toTimestamp(atMs),
        ]),
      ),
      'upload-url': uploadUrl,
    },
    relationships: { 'ingress-attributes': { data: null } },
    links: {
      self: `${API_PREFIX}/configuration-versions/${version.id}`,
      download: `${API_PREFIX}/configuration-versions/${version.id}/download`,
    },
  };
};
