/**
 * The parts of the console in each of their states, on one page, which is no part of an installation:
 * `npm run gallery -w services/console`.
 */
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from '../api/queries.ts';
import { Page } from '../components/page.tsx';
import '../look/tokens.css';
import '../look/reset.css';
import { MainContent } from '../components/main-content.tsx';
import { Controls, LoadingContent } from './controls.tsx';
import { Records } from './records.tsx';

const Gallery = () => (
  <MainContent>
    <Page title="Gallery" lead="Each part of the console, in each of its states.">
      <Controls />
      <Records />
      <LoadingContent />
    </Page>
  </MainContent>
);

// Some parts read the address of their page.
const router = createRouter({
  routeTree: createRootRoute({ component: Gallery }),
  history: createMemoryHistory(),
});

const place = document.getElementById('gallery');
if (place !== null)
  createRoot(place).render(
    <QueryClientProvider client={createQueryClient()}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
