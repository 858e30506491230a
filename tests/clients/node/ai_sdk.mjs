// Vercel's AI SDK with three of its providers: OpenAI over Responses, OpenAI over chat completions,
// and the one for servers that are compatible with OpenAI.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { z } from "zod";
import { runCase, settings } from "./run_case.mjs";

const { baseURL, apiKey, model: name } = settings;
const stopWhen = isStepCount(5);
const quiet = { maxRetries: 0, onError: () => {} };
const Person = z.object({ name: z.string(), age: z.number().int() });

function modelOf({ provider, key = apiKey }) {
  switch (provider) {
    case "responses":
      return createOpenAI({ baseURL, apiKey: key }).responses(name);
    case "chat":
      return createOpenAI({ baseURL, apiKey: key }).chat(name);
    case "compatible":
      return createOpenAICompatible({
        name: "hermes",
        baseURL,
        apiKey: key,
        supportsStructuredOutputs: true,
      })(name);
    default:
      throw new Error(`unknown provider ${provider}`);
  }
}

const weather = (report) => ({
  get_weather: tool({
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: async () => report,
  }),
});

async function ask({ stream, ...question }) {
  if (!stream) {
    const { text, steps, response, finishReason } = await generateText({ ...quiet, ...question });
    return { text, steps, messages: response.messages, finish: finishReason };
  }
  const answer = streamText({ ...quiet, ...question });
  let streamed = "";
  for await (const piece of answer.textStream) streamed += piece;
  return {
    text: streamed,
    steps: await answer.steps,
    messages: (await answer.response).messages,
    finish: await answer.finishReason,
  };
}

const summary = ({ text, steps, finish }) => ({ text, steps: steps.length, finish });

runCase({
  async chat({ stream, ...options }) {
    return summary(await ask({ model: modelOf(options), prompt: "Hello", stream }));
  },

  // An agent with a tool of its own, and a second turn that sends back what the first one gave.
  async twoTurns({ stream, ...options }) {
    const model = modelOf(options);
    const tools = weather("");
    const question = { role: "user", content: "Files?" };
    const first = await ask({ model, messages: [question], tools, stopWhen, stream });
    const again = { role: "user", content: "Sure?" };
    const messages = [question, ...first.messages, again];
    const second = await ask({ model, messages, tools, stopWhen, stream });
    return { first: summary(first), second: summary(second) };
  },

  async clientTool({ report, stream, ...options }) {
    const tools = weather(report);
    return summary(
      await ask({ model: modelOf(options), prompt: "Weather?", tools, stopWhen, stream }),
    );
  },

  async structured(options) {
    const { output } = await generateText({
      ...quiet,
      model: modelOf(options),
      prompt: "Who?",
      output: Output.object({ schema: Person }),
    });
    return { parsed: output };
  },

  async image({ picture, ...options }) {
    const content = [
      { type: "text", text: "Colour?" },
      { type: "image", image: picture },
    ];
    const messages = [{ role: "user", content }];
    return summary(await ask({ model: modelOf(options), messages }));
  },

  async chain(options) {
    const model = modelOf(options);
    const first = await generateText({ ...quiet, model, prompt: "My colour is blue." });
    const { responseId } = first.providerMetadata.openai;
    const { text } = await generateText({
      ...quiet,
      model,
      prompt: "Which?",
      providerOptions: { openai: { previousResponseId: responseId } },
    });
    return { text };
  },

  async leaving(options) {
    const leaver = new AbortController();
    const { textStream } = streamText({
      ...quiet,
      model: modelOf(options),
      prompt: "Hello",
      abortSignal: leaver.signal,
    });
    for await (const piece of textStream) {
      if (piece) break;
    }
    leaver.abort();
    return { left: true };
  },
});
