/** Entry point of the console: query cache, router and root element. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/queries.ts';
import { router } from './app/router.ts';
import { applyTheme } from './look/theme.ts';
import { readSignInPage } from './session/first-reads.ts';
import './look/tokens.css';
import './look/reset.css';

// A file is missing because a new version, with other file names, was installed after the page was
// loaded.
addEventListener('vite:preloadError', () => location.reload());

applyTheme();
const client = createQueryClient();
readSignInPage(client);
const place = document.getElementById('console');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
