/** @hey-api/openapi-ts */
module.exports = {
  input: 'openapi.json',
  output: 'hey-api',
  plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch', 'zod'],
};
