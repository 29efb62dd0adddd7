import { expect, test } from 'vitest';
import { repositoryUrl } from './oauth-client.ts';

test.for([
  ['github', 'https://github.com', 'acme/app', 'https://github.com/acme/app'],
  ['gitlab_hosted', 'https://gitlab.com/', 'a/b/c', 'https://gitlab.com/a/b/c'],
  ['bitbucket_server', 'https://b.example', 'P/r', 'https://b.example/projects/P/repos/r'],
] as const)('a repository of %s at %s has the web address %s', ([provider, httpUrl, name, url]) => {
  expect(repositoryUrl({ serviceProvider: provider, httpUrl }, name)).toBe(url);
});
