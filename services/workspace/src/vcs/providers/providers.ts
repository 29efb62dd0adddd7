import type { ServiceProvider } from '../../workspaces/model/domain/oauth-client.ts';
import { BITBUCKET_CLOUD } from './bitbucket-cloud.ts';
import { BITBUCKET_SERVER } from './bitbucket-server.ts';
import { FORGEJO, GITEA, GITHUB } from './github.ts';
import { GITLAB } from './gitlab.ts';
import type { Provider } from './provider.ts';

export const PROVIDERS: Readonly<Record<ServiceProvider, Provider>> = {
  bitbucket_data_center: BITBUCKET_SERVER,
  bitbucket_hosted: BITBUCKET_CLOUD,
  bitbucket_server: BITBUCKET_SERVER,
  forgejo: FORGEJO,
  gitea: GITEA,
  github: GITHUB,
  github_enterprise: GITHUB,
  gitlab_community_edition: GITLAB,
  gitlab_enterprise_edition: GITLAB,
  gitlab_hosted: GITLAB,
};
