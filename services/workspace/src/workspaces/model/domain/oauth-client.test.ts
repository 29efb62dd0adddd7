import { expect, test } from 'vitest';
import { repositoryUrl } from './oauth-client.ts';

test.for([
  ['github', 'https://github.com', 'acme/app', 'https://github.com/acme/app'],
  ['gitlab_hosted', 'https://gitlab.com/', 'a/b/c', 'https://gitlab.com/a/b/c'],
  ['ado_services', 'https://dev.azure.com', 'a/p/_git/r', 'https://dev.azure.com/a/p/_git/r'],
  ['bitbucket_server', 'https://b.example', 'P/r', 'https://b.example/projects/P/repos/r'],
] as const)('a repository of %s at %s has the web address %s', ([provider, httpUrl, name, url]) => {
  expect(repositoryUrl({ serviceProvider: provider, httpUrl }, name)).toBe(url);
});
