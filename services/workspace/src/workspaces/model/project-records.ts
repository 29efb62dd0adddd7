import { collection } from '@keelson/storage';
import { projectShape } from './domain/project.ts';

/** Keyed by `prj-…`. */
export const projectRecords = collection('projects', {
  scope: 'shared',
  version: 1,
  shape: projectShape,
  kind: 'project',
  owner: { kind: 'organization', by: 'organizationId' },
  index: [
    'organizationId',
    { name: 'name', values: ({ organizationId, name }) => [[organizationId, name]] },
  ],
});
