import { requireName } from '@keelson/engine';

/** Roles are found whatever the case of their names. @throws KeelsonError `request.invalid` */
export const toRoleName = (given: string): string => requireName(given).toLowerCase();
