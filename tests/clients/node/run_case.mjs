// Runs one case of a client and prints what came of it as one line of JSON.
// The arguments are the case's name and its options as JSON; the process ends when its input does.

export const settings = {
  baseURL: process.env.GATEWAY_BASE_URL,
  apiKey: process.env.GATEWAY_KEY,
  model: process.env.GATEWAY_MODEL,
};

const complaint = (error) => ({
  error: {
    name: error.name === "Error" ? error.constructor.name : error.name,
    status: error.status ?? error.statusCode ?? error.lastError?.statusCode ?? null,
    message: error.message,
  },
});

export async function runCase(cases) {
  const [name, options] = process.argv.slice(2);
  let result;
  try {
    result = await cases[name](JSON.parse(options));
  } catch (error) {
    result = complaint(error);
  }
  console.log(JSON.stringify(result));
  // A client that left must be noticed while it lives, not because its process has ended.
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
}
