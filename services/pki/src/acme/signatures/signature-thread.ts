/** Entry of the thread that checks signatures. */
import { serveJobs } from '../../threads/serve-jobs.ts';
import { checkSignature } from './check-signature.ts';

serveJobs(checkSignature);
