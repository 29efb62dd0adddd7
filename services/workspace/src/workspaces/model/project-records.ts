import { keyedRecords } from '../../base/keyed-records.ts';
import type { Project } from './domain/project.ts';

/** Keyed by `prj-…`. */
export const projectRecords = keyedRecords<Project>('shared/projects/');

/** Organization id, name -> project id. */
export const projectNames = keyedRecords<{ readonly id: string }>('shared/project-names/');
