/** Reference §6.3–6.5. */

import type { Route } from '@keelson/edge';
import { type MountScope, requireMount } from '@keelson/engine';
import { ACCEPTED, type Answer, field, propertiesOf, secretsRoutes } from '@keelson/secrets-api';
import type { Store } from '@keelson/storage';
import { countStored, findAutoTidy, updateAutoTidy } from './auto-tidy-operations.ts';
import {
  checkTidySettings,
  DEFAULT_TIDY_SETTINGS,
  NO_OPERATIONS,
  tidyWarnings,
} from './domain/tidy-settings.ts';
import { autoTidyDocument, tidyStatusDocument } from './tidy-document.ts';
import { readTidySettings, TIDY_FIELDS } from './tidy-fields.ts';
import type { TidyRunner } from './tidy-runner.ts';

export interface TidyRouteParts {
  readonly store: Store;
  readonly tidy: TidyRunner;
}

const AUTO_FIELDS = {
  enabled: field.bool({ description: 'Tidy automatically.' }),
  interval_duration: field.durationSeconds({
    description: 'From the end of one run to the start of the next.',
  }),
  maintain_stored_certificate_counts: field.bool({ description: 'Show counts in tidy-status.' }),
  publish_stored_certificate_count_metrics: field.bool({
    description: 'No effect: the counts are not among the metrics.',
  }),
  min_startup_backoff_duration: field.durationSeconds({
    description: 'Minimum time between the start of the service and a run.',
  }),
  max_startup_backoff_duration: field.durationSeconds({ description: 'Maximum of that time.' }),
  ...TIDY_FIELDS,
};

const autoTidyRoutes = (store: Store): Route[] =>
  secretsRoutes({
    path: '/config/auto-tidy',
    tag: 'configuration',
    hasSettings: true,
    fields: AUTO_FIELDS,
    operations: {
      read: {
        summary: 'Read the settings of automatic tidying',
        answer: { data: propertiesOf(AUTO_FIELDS) },
        handle: async (context) => ({
          data: autoTidyDocument(await findAutoTidy(store, requireMount(context))),
        }),
      },
      update: {
        summary: 'Change the settings of automatic tidying',
        handle: async (context) => {
          const { fields } = context;
          const mount = requireMount(context);
          const { settings, warnings } = await updateAutoTidy(store, mount, (before) => ({
            enabled: fields.enabled ?? before.enabled,
            intervalSeconds: fields.interval_duration ?? before.intervalSeconds,
            maintainsCounts: fields.maintain_stored_certificate_counts ?? before.maintainsCounts,
            publishesCounts:
              fields.publish_stored_certificate_count_metrics ?? before.publishesCounts,
            minStartupBackoffSeconds:
              fields.min_startup_backoff_duration ?? before.minStartupBackoffSeconds,
            maxStartupBackoffSeconds:
              fields.max_startup_backoff_duration ?? before.maxStartupBackoffSeconds,
            tidy: readTidySettings(fields, before.tidy),
          }));
          return { data: autoTidyDocument(settings), warnings };
        },
      },
    },
  });

const STARTED = 'Tidy operation successfully started. The path tidy-status shows its progress.';

export const tidyRoutes = ({ store, tidy }: TidyRouteParts): Route[] => {
  const statusOf = async (mount: MountScope) => {
    const { maintainsCounts } = await findAutoTidy(store, mount);
    const stored = maintainsCounts ? await countStored(store, mount) : undefined;
    return tidyStatusDocument(await tidy.status(mount), stored, mount.uuid);
  };
  return [
    ...secretsRoutes({
      path: '/tidy',
      tag: 'upkeep',
      fields: TIDY_FIELDS,
      operations: {
        update: {
          summary: 'Delete expired records',
          answer: ACCEPTED,
          handle: async (context): Promise<Answer> => {
            const settings = checkTidySettings(
              readTidySettings(context.fields, DEFAULT_TIDY_SETTINGS),
            );
            if (settings.operations.length === 0) return { status: 202, warnings: [NO_OPERATIONS] };
            return (await tidy.start(requireMount(context), settings, 'manual'))
              ? { status: 202, warnings: [STARTED, ...tidyWarnings(settings)] }
              : { warnings: ['Tidy operation already in progress.'] };
          },
        },
      },
    }),
    ...secretsRoutes({
      path: '/tidy-status',
      tag: 'upkeep',
      fields: {},
      operations: {
        read: {
          summary: 'Progress of tidying',
          handle: async (context) => ({ data: await statusOf(requireMount(context)) }),
        },
      },
    }),
    ...secretsRoutes({
      path: '/tidy-cancel',
      tag: 'upkeep',
      fields: {},
      operations: {
        update: {
          summary: 'Cancel the current run of tidying',
          handle: async (context) => {
            const mount = requireMount(context);
            return (await tidy.cancel(mount))
              ? { data: await statusOf(mount) }
              : {
                  warnings: ['Tidy operation cannot be cancelled as none is currently running.'],
                };
          },
        },
      },
    }),
    ...autoTidyRoutes(store),
  ];
};
