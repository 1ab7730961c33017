import { isGranted } from './plugin-http.js';

const HOSTS = ['api.example.com', '*.weather.test', 'localhost:8080', '[::1]:9000'];

test.each([
  'https://api.example.com/v1?q=1',
  'https://API.example.com/',
  'https://api.example.com:443/',
  'https://a.weather.test/',
  'https://a.b.weather.test/',
  'http://localhost:8080/',
  'http://[::1]:9000/',
])('%s is a host that was granted', (url) => {
  expect(isGranted(HOSTS, url)).toBe(true);
});

test.each([
  'https://evil-api.example.com/',
  'https://api.example.com.evil.test/',
  'https://example.com/',
  'https://api.example.com:8443/',
  'https://weather.test/',
  'https://evilweather.test/',
  'http://localhost/',
  'http://localhost:80800/',
  'https://evil.test/?api.example.com',
  'https://api.example.com@evil.test/',
  'api.example.com',
  '',
])('%s is none', (url) => {
  expect(isGranted(HOSTS, url)).toBe(false);
});
