import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client';
import { App, loadFirstPage } from './app';
import { Authenticated } from './auth/auth';
import { firstPath } from './router';

const RETRIES = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      refetchOnWindowFocus: true,
      // The gateway would refuse the same request again; one that did not reach it may succeed now.
      retry: (failures, error) =>
        failures < RETRIES && error instanceof ApiError && (error.status === 0 || error.status >= 502),
    },
    mutations: { retry: false },
  },
});

loadFirstPage(firstPath);
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Authenticated>
          <App />
        </Authenticated>
      </QueryClientProvider>
    </StrictMode>,
  );
}
