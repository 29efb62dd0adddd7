/** Entry of the threads that make certificates. */
import { serveJobs } from '../threads/settled.ts';
import { makeOrdered } from './build-certificate.ts';

export const serve = serveJobs(makeOrdered);
