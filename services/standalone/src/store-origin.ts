/** The cluster and the service to which a store of a data folder belongs. */
import { singleRecord } from '@keelson/storage';
import { Type } from 'typebox';
import { STORE_SERVICES } from './first-start.ts';

export const originRecord = singleRecord('core/origin', {
  scope: 'node',
  version: 2,
  upgrades: { 2: { up: (origin) => origin, down: (origin) => origin } },
  shape: Type.Object({
    /** Shared by all stores of one data folder and by no others. */
    id: Type.String(),
    service: Type.Optional(Type.Enum(STORE_SERVICES)),
  }),
});
