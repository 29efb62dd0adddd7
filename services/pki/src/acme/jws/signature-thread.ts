/** Entry point of the threads that check signatures. */
import { serveJobs } from '../../threads/settled.ts';
import { checkSignature } from './check-signature.ts';

export const serve = serveJobs(checkSignature);
