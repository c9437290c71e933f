import torch
updates = torch.tensor([[8.0], [10.0]], dtype=torch.float32)
indices = torch.tensor([[-1], [-1]], dtype=torch.int64)
print('expected:', 'a refusal: negative index; indices[0,0] = -1; valid: 0 … 1; negative indices do not count from the end here', flush=True)
def call(updates, indices):
    return torch.nn.functional.max_unpool1d(updates, indices, kernel_size=(2,))
call = torch.compile(call, dynamic=False)
output = call(updates, indices)
print("seen:    ", output.tolist(), output.dtype, output.shape)
