import { collection } from '@keelson/storage';
import { Type } from 'typebox';
import { projectShape } from './domain/project.ts';

/** Keyed by `prj-…`. */
export const projectRecords = collection('projects', {
  scope: 'shared',
  version: 1,
  shape: projectShape,
});

/** Organization id, name -> project id. */
export const projectNames = collection('project-names', {
  scope: 'shared',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});
